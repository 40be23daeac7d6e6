// Written by `git checkpoint agent add {agent}`; `git checkpoint agent remove {agent}` deletes it.
// It hands {agent}'s events to `git checkpoint hook` and does nothing where that program is missing.
import { spawnSync } from "node:child_process"

// The tools that may write files; of the others there is nothing to keep before they run.
const writers = new Set(["write", "edit", "multiedit", "patch", "apply_patch", "bash"])

// A window manager gives {agent} a short PATH, without the places where the program may be.
const places = ["/usr/local/bin", process.env.HOME + "/.local/bin", "/opt/homebrew/bin"]
const environment =
  process.platform === "win32" ? process.env : { ...process.env, PATH: [process.env.PATH, ...places].join(":") }

function hook(event: string, payload: any, directory: string, timeout = 30000): any {
  try {
    const run = spawnSync("git-checkpoint", ["hook", "{agent}", event], {
      cwd: directory,
      env: environment,
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
