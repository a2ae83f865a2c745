import { run } from "../run.js";

await run("platform-proxy");
