package record
import "testing"
func BenchmarkParseMessage(b *testing.B){ r:=example(); Seal(r,Limits{}); m:=Message(r,r.State); b.ReportAllocs(); for b.Loop(){ ParseMessage(m)} }
func BenchmarkParse(b *testing.B){ r:=example(); d,_:=Seal(r,Limits{}); b.ReportAllocs(); for b.Loop(){ Parse(d,Limits{})} }
func BenchmarkVerify(b *testing.B){ r:=example(); d,_:=Seal(r,Limits{}); b.ReportAllocs(); for b.Loop(){ Verify(r,d)} }
func BenchmarkSeal(b *testing.B){ r:=example(); b.ReportAllocs(); for b.Loop(){ Seal(r,Limits{})} }
