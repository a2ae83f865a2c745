import { run } from "../run.js";

await run("core-objects");
