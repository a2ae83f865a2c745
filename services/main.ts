import { OFFLINE, runOffline } from "./launcher/offline.js";
import { run } from "./launcher/run.js";

const argv = process.argv.slice(2);
await (OFFLINE.has(argv[0] ?? "") ? runOffline(argv, process.env) : run());
