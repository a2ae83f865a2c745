import { invalidArgument } from "../../../shared/rpc/errors.js";
import { endOf } from "../../objects/secrets.js";
import type { Writer } from "../../objects/writer.js";
import type { CredentialRecord, IntegrationRecord } from "./record.js";

const NONE: CredentialRecord = { sealed: "", ends_with: "" };

/** What is kept of a credential; "" for none. @throws ConnectError invalid_argument for what no header can carry. */
export function keptCredential(credential: string, writer: Writer): CredentialRecord {
  if (credential === "") return NONE;
  if (!/^[!-~]+$/.test(credential)) throw invalidArgument("credential must be printable ASCII without white space");
  return { sealed: writer.seal(credential, "sealed"), ends_with: endOf(credential) };
}

/** What changes of where an integration is and of its credential. */
export interface CredentialChange {
  readonly endpoint: string;
  readonly credential?: string | undefined;
  readonly remove: boolean;
}

/**
 * What is kept of a credential after a change; nothing where it stays. It was
 * given for one host, and whoever may change the integration does not take it to
 * another one.
 *
 * @throws ConnectError invalid_argument where it would go elsewhere, or is given and removed.
 */
export function keptCredentialAfter(
  current: IntegrationRecord,
  { endpoint, credential, remove }: CredentialChange,
  writer: Writer,
): Partial<CredentialRecord> {
  if (credential !== undefined && remove)
    throw invalidArgument("give either credential or remove_credential, not both");
  if (remove) return NONE;
  if (credential !== undefined) return keptCredential(credential, writer);
  if (current.sealed !== "" && new URL(endpoint).origin !== new URL(current.endpoint).origin)
    throw invalidArgument("the new endpoint has another host: give credential again, or set remove_credential");
  return {};
}
