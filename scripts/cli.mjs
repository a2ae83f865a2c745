// npm run -s cli: brings the checkout up to date, then runs the administration client.

import { isInstalled, prepareOrExit } from "./prepare.mjs";

// Where a service runs, its files stay as they are.
if (!isInstalled()) prepareOrExit();
await import("../dist/clients/cli/main.js");
