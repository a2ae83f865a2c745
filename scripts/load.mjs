// npm run -s load: brings the checkout up to date, then runs the load generator.

import { prepareOrExit } from "./prepare.mjs";

prepareOrExit();
await import("../dist/clients/load/main.js");
