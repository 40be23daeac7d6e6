package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// everydayMemory is what a run may take before garbage is collected at any price.
const everydayMemory = 48 << 20

// memoryFor is the same in a worktree with an index of some bytes: its file, its entries
// and what was found of each are in memory at once, which takes four times as much.
// Looking for garbage all the time finds none in that.
func memoryFor(index int64) int64 { return max(everydayMemory, 4*index) }

// memoryOfProof is the same for who looks at all checkpoints, of which as much is kept as the
// packed refs take six or seven times: what is made of a few at once is garbage soon.
func memoryOfProof(packedRefs int64) int64 { return max(leastProof, 12*packedRefs) }

const leastProof = 32 << 20

// herald is what each collection finds unreachable, so that its finalizer runs after each.
type herald struct{ _ *byte } // with a pointer it shares no memory with others

// followMemory raises the limit to twice what is in use, each time that garbage was looked
// for: what nobody could know beforehand, such as files that the index does not have, may
// take more than all of it, and then nothing but the collector would run.
func followMemory() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var follow func(*herald)
	follow = func(*herald) {
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		if want := 2 * int64(live[0].Value.Uint64()); want > debug.SetMemoryLimit(-1) {
			debug.SetMemoryLimit(want)
		}
		runtime.SetFinalizer(&herald{}, follow)
	}
	runtime.SetFinalizer(&herald{}, follow)
}
