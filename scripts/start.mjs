// npm start: brings the checkout up to date, then runs the built program in this process.

import { prepareOrExit } from "./prepare.mjs";

prepareOrExit();
await import("../dist/services/main.js");
