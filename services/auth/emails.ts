import { invalidArgument } from "../shared/errors.js";

const MAX_LENGTH = 254;
const LOCAL_PART = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const LABEL = /^(?!-)[\p{L}\p{N}-]{1,63}(?<!-)$/u;

/**
 * The one spelling of an e-mail address: NFKC, lower case. The address is how a
 * platform finds its user, so two spellings must never be two users, and an
 * address that only looks like another's is refused.
 *
 * @throws ConnectError invalid_argument, where it is no address or its local part is not ASCII.
 */
export function normalEmail(text: string): string {
  const email = text.trim().normalize("NFKC").toLowerCase();
  const at = email.lastIndexOf("@");
  const local = email.slice(0, at);
  const labels = email.slice(at + 1).split(".");
  if (at < 1 || email.length > MAX_LENGTH || labels.length < 2 || !labels.every((label) => LABEL.test(label))) {
    throw invalidArgument("email has to be an e-mail address such as ana@example.org");
  }
  if (!LOCAL_PART.test(local)) {
    throw invalidArgument("the part of email before the @ may hold only ASCII letters, digits and punctuation");
  }
  return email;
}
