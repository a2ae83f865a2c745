import { domainToASCII } from "node:url";
import { invalidArgument } from "../shared/rpc/errors.js";

const MAX_LENGTH = 254;
const LOCAL_PART = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
/** What may be written; anything else the conversion to ASCII would read as the rest of a URL. */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
const DOMAIN = /^(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+(?!-)(?=[a-z0-9-]*[a-z])[a-z0-9-]{2,63}(?<!-)$/;

/**
 * The one spelling of an e-mail address: NFKC, lower case, the domain in its
 * ASCII form (RFC 5891). The address is how a platform finds its user, so two
 * spellings must never be two users, and an address that only looks like
 * another's is refused.
 *
 * @throws ConnectError invalid_argument, where it is no address or its local part is not ASCII.
 */
export function normalEmail(text: string): string {
  const email = text.trim().normalize("NFKC").toLowerCase();
  const at = email.lastIndexOf("@");
  const local = email.slice(0, at);
  const written = email.slice(at + 1);
  const domain = domainToASCII(written);
  if (at < 1 || !WRITTEN_DOMAIN.test(written) || email.length > MAX_LENGTH || !DOMAIN.test(domain)) {
    throw invalidArgument("email must be an e-mail address such as ana@example.org");
  }
  if (!LOCAL_PART.test(local)) {
    throw invalidArgument("the part of email before the @ may contain only ASCII letters, digits and punctuation");
  }
  return `${local}@${domain}`;
}
