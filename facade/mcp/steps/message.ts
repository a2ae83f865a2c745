import { ambiguityOf } from "../../../services/shared/rpc/json-twice.js";
import { textOfUtf8 } from "../../../services/shared/rpc/utf8.js";
import { ambiguousRefusal } from "../../admission/refusals.js";
import { PARSE_ERROR } from "../json-rpc.js";
import { otherCaseIn } from "../members.js";
import type { ProtocolRefusal } from "../refuse.js";
import type { McpRequest, StepResult } from "../request.js";

const NOT_JSON: ProtocolRefusal = { status: 400, code: PARSE_ERROR, message: "Parse error: the body is not JSON" };

/** Reads the message from the body, and refuses one that others could read differently. */
export function readMessage(request: McpRequest): StepResult {
  const { body, exchange } = request;
  // The call that follows may last long.
  request.body = undefined;
  try {
    const text = textOf(body as string | Buffer);
    request.message = JSON.parse(text);
    const fault = ambiguityOf(text, request.message) ?? otherCaseIn(request.message);
    return fault === undefined ? undefined : ambiguousRefusal(fault);
  } catch {
    exchange.postpone();
    return NOT_JSON;
  }
}

/** @throws TypeError for what is not UTF-8. */
function textOf(body: string | Buffer): string {
  const text = typeof body === "string" ? body : textOfUtf8(body);
  if (text === undefined) throw new TypeError("not UTF-8");
  return text;
}
