import type { Message } from "@bufbuild/protobuf";
import type { Step } from "../running-call.js";

/** A step that looks at nothing but the request. */
export function requestStep(check: (request: Message) => void): Step {
  return ({ request }) => check(request as Message);
}
