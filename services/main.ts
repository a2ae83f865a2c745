import { OFFLINE, runOffline } from "./launcher/offline.js";

const argv = process.argv.slice(2);
if (OFFLINE.has(argv[0] ?? "")) await runOffline(argv, process.env);
else await (await import("./launcher/run.js")).run();
