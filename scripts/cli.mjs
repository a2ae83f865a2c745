// npm run -s cli: brings the checkout up to date, then runs the administration client.

import { prepareOrExit } from "./prepare.mjs";

prepareOrExit();
await import("../dist/clients/cli/main.js");
