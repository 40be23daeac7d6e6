// Written by `git checkpoint agent add {agent}`; `git checkpoint agent remove {agent}` deletes it.
// It hands {agent}'s events to `git checkpoint hook` and does nothing where that program is missing.
import { spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { delimiter, dirname, isAbsolute, join, relative } from "node:path"

// The tools that may write files; of the others there is nothing to keep before they run.
const writers = new Set(["write", "edit", "multiedit", "patch", "apply_patch", "bash"])

// The program is where the link leads that `agent add` makes. If that is gone, it is looked for in PATH and,
// because a window manager gives {agent} a short PATH, in the usual places, but in no relative directory and
// in none of the worktree, such as node_modules/.bin, whose content comes with a clone.
const home = process.env.HOME ?? ""
const known = join(process.env.XDG_STATE_HOME || join(home, ".local", "state"), "git-checkpoint", "bin")
const places = ["/usr/local/bin", join(home, ".local", "bin"), "/opt/homebrew/bin"]
const program = process.platform === "win32" ? "git-checkpoint.exe" : "git-checkpoint"

function find(directory: string): string {
  let top = ""
  for (let at = realpathSync(directory); dirname(at) !== at; at = dirname(at))
    if (at !== home && existsSync(join(at, ".git"))) top = at
  const outside = (dir: string) => !top || relative(top, dir).startsWith("..") || isAbsolute(relative(top, dir))
  for (const dir of [known, ...(process.env.PATH ?? "").split(delimiter), ...places])
    if (isAbsolute(dir) && existsSync(join(dir, program)) && (dir === known || outside(realpathSync(dir))))
      return join(dir, program)
  return ""
}

function hook(event: string, payload: any, directory: string, timeout = 30000): any {
  try {
    const run = spawnSync(find(directory), ["hook", "{agent}", event], {
      cwd: directory,
      input: JSON.stringify({ ...payload, directory }),
      encoding: "utf8",
      timeout,
      stdio: ["pipe", "pipe", "ignore"],
    })
    return run.stdout ? JSON.parse(run.stdout) : {}
  } catch {
    return {}
  }
}

export const GitCheckpoint = async ({ client, directory, worktree }: any) => {
  const at = directory || worktree || process.cwd()
  let session = "" // {agent} ends without saying which it worked in
  const seen = new Set(["session.created", "session.idle", "session.error"])
  // What requests took, by message, until the end of a turn hands it over. Subagents count to their parent.
  const spent = new Map<string, any>()
  const counted = new Set<string>()
  const parents = new Map<string, string>()
  const rootOf = (id: string) => {
    while (parents.has(id)) id = parents.get(id)!
    return id
  }
  const usageOf = (session: string) => {
    const usage = [...spent.values()].filter((info) => rootOf(info.sessionID) === session)
    for (const info of usage) {
      spent.delete(info.id)
      counted.add(info.id)
    }
    return usage.map(({ id, modelID, tokens }) => ({ id, modelID, tokens }))
  }
  return {
    event: async ({ event }: any) => {
      const info = event.properties?.info
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      if (event.type === "message.updated" && info?.role === "assistant" && info.time?.completed && !counted.has(info.id))
        spent.set(info.id, info)
      if (!seen.has(event.type)) return
      const ended = event.type === "session.created" ? "" : event.properties?.sessionID
      hook("event:" + event.type, ended ? { event, usage: usageOf(ended) } : { event }, at)
    },
    "chat.message": async (input: any, output: any) => {
      if (output.parts.every((part: any) => part.ignored)) return // a note of ours, below
      session = input.sessionID
      const answer = hook("chat.message", { input, output }, at)
      const note = answer.block || answer.tell
      if (note) {
        const parts = [{ type: "text", text: note, ignored: true }]
        await client.session
          .prompt({ path: { id: input.sessionID }, body: { noReply: true, parts } })
          .catch(() => {})
      }
      if (answer.block) throw new Error(answer.block)
      if (answer.context && output.parts[0]) {
        const first = output.parts[0]
        output.parts.push({ ...first, id: first.id + "c", text: answer.context, synthetic: true })
      }
    },
    "tool.execute.before": async (input: any, output: any) => {
      // A throw would deny the tool.
      try {
        if (writers.has(input.tool)) hook("tool.execute.before", { input, output: { args: output.args } }, at, 2000)
      } catch {}
    },
    "tool.execute.after": async (input: any, output: any) => {
      hook("tool.execute.after", { input, output: { title: output?.title } }, at)
    },
    "experimental.session.compacting": async (input: any) => {
      hook("experimental.session.compacting", { input }, at)
    },
    dispose: async () => {
      if (session) hook("dispose", { session_id: session }, at)
    },
  }
}
