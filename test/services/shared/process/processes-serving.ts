// A process that serves, until it is killed while another one computes for it.

import { createProcesses } from "../../../../services/shared/process/processes.js";
import type { ProcessMethods } from "./processes-own.js";

// Who waits for a process alone ends.
setInterval(() => undefined, 1_000);
const bounds = { megabytes: 64, wholeMegabytes: 300, busyMs: Number.POSITIVE_INFINITY, isLow: true };
const one = createProcesses().create<ProcessMethods>(new URL("processes-own.js", import.meta.url), bounds);
const { pid } = await one.call("about", "");
void one.call("compute", "");
setTimeout(() => process.stdout.write(`${pid}\n`), 300);
