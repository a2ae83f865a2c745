// The floor: µWebSockets.js alone, which reads each request to its end and
// sends the same bytes, as a server that does nothing else can at best.

import { type BareAnswer, listenBare } from "./listen-bare.js";
import { serveAsAsked } from "./own.js";

serveAsAsked((answer: BareAnswer) => listenBare(answer));
