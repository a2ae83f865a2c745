// For --import: writes the URL of every module that a program loads, a line
// each, to the file that LOADED names.

import { appendFileSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

// The hooks run in a thread of their own, where this module is loaded again.
if (isMainThread) register(import.meta.url);

export function load(url, context, next) {
  appendFileSync(process.env.LOADED, `${url}\n`);
  return next(url, context);
}
