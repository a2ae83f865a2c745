import type { Known } from "../../../services/shared/credentials/known.js";
import type { NotAdmitted } from "../../admission/admit.js";
import { httpRefusalOf } from "../../admission/refusals.js";
import type { McpRequest, StepResult } from "../request.js";

/** Finds out who sends the request. A token that is known is not waited for. */
export function authenticate(request: McpRequest): StepResult {
  const { exchange, endpoint, serving } = request;
  const admission = serving.admit(exchange, endpoint.resource);
  return admission instanceof Promise
    ? request.wait(admission.then((one) => enter(request, one)))
    : enter(request, admission);
}

function enter(request: McpRequest, admission: Known | NotAdmitted): StepResult {
  if (!("refused" in admission)) {
    request.known = admission;
    return undefined;
  }
  const { refused } = admission;
  // If auth cannot be asked, it is not known that the caller is unauthenticated.
  if (refused !== "unavailable") request.serving.unauthenticated.count(request.exchange);
  return httpRefusalOf(refused, request.endpoint.challenge);
}
