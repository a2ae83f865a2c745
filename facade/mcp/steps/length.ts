import { saidOfExcess } from "../../../services/shared/rpc/json-shape.js";
import { type HttpRefusal, noSlotRefusal, TOO_SLOW, tooLargeRefusal } from "../../admission/refusals.js";
import type { Unread } from "../../http/body-reader.js";
import { INVALID_REQUEST } from "../json-rpc.js";
import { MAX_BODY, type McpRequest, type StepResult } from "../request.js";

const UNREAD: Readonly<Record<Unread, HttpRefusal>> = {
  "too long": tooLargeRefusal(MAX_BODY),
  "too slow": TOO_SLOW,
  "no room": noSlotRefusal("share"),
};

/** Refuses a body that was not read to its end. */
export function checkLength({ body, unread, exchange }: McpRequest): StepResult {
  if (unread === "too deep" || unread === "too many") {
    // Answered when there is time, as a body that is not JSON is: its sender sends the same again.
    exchange.postpone();
    return { status: 400, code: INVALID_REQUEST, message: `Invalid request: the body ${saidOfExcess(unread)}` };
  }
  return body === undefined ? UNREAD[unread ?? "too long"] : undefined;
}
