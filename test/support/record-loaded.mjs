// For --import: writes the URL of every module that a program and its threads
// load, a line each, to the file that LOADED names.

import { appendFileSync } from "node:fs";
import { register } from "node:module";

// The hooks of each thread run in one of their own, where this module is loaded again.
const HOOKS = "?hooks";
if (!import.meta.url.endsWith(HOOKS)) register(import.meta.url + HOOKS);

export function load(url, context, next) {
  appendFileSync(process.env.LOADED, `${url}\n`);
  return next(url, context);
}
