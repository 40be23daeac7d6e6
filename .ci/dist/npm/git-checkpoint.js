#!/usr/bin/env node
// Starts the program of the package for this system. Signals go to it, and its exit code becomes ours.
"use strict";
const { spawn } = require("child_process");

const name = `${require("../package.json").name}-${process.platform}-${process.arch}`;
const file = `${name}/bin/git-checkpoint${process.platform === "win32" ? ".exe" : ""}`;
let program;
try {
  program = require.resolve(file);
} catch {
  console.error(`git-checkpoint: there is no package ${name} here`);
  console.error("hint: install again without --omit=optional; systems without a package can build from source");
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (problem) => {
  console.error(`git-checkpoint: ${problem.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
