import { run } from "./launcher/run.js";

await run();
