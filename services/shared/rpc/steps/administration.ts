import type { DescMethod } from "@bufbuild/protobuf";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Auditor } from "../../audit/auditor.js";
import { entryOf } from "../../audit/entry.js";
import type { Call } from "../call.js";
import { outcomeOf } from "./record.js";

type Handle = (request: unknown, call: Call) => unknown;

/**
 * A method that administers: its record is on disk before it changes anything,
 * and says how it ended before it answers. Where the record cannot be written,
 * nothing is changed.
 */
export function administering(desc: DescMethod, handle: Handle, audit: Auditor): Handle {
  return async (request, call) => {
    const kind = AuditKind.ADMINISTRATION;
    const end = await audit.begin(entryOf(desc, request, call, call.caller, { kind, outcome: "" }));
    try {
      const result = await handle(request, call);
      await end(outcomeOf(undefined));
      return result;
    } catch (error) {
      await end(outcomeOf(error));
      throw error;
    }
  };
}
