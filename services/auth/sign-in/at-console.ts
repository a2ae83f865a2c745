import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  HandleHttpRequestSchema,
  HandleHttpResponseSchema,
} from "#proto/auth/v1/authorization_server_service_pb.js";
import { isFromUs } from "../../shared/credentials/session.js";
import { emailOf } from "../identity.js";
import type { Browser, BrowserSignIn, NotSignedIn, SignedIn } from "../oauth/browser-sign-in.js";
import type { Site } from "../oauth/pages/page.js";

type HttpRequest = MessageShape<typeof HandleHttpRequestSchema>;
type HttpResponse = MessageInitShape<typeof HandleHttpResponseSchema>;

/** What the sign-in at the console needs. */
export interface ConsoleSignInOptions {
  readonly signIn: BrowserSignIn;
  readonly site: Site;
  /** The origin of the public base URL. */
  readonly origin: string;
}

/** Longest body, in bytes. */
const MAX_BODY = 4_096;

/**
 * {base}/console/session, in JSON: GET says who is signed in and how one can;
 * POST signs in by `email` and `password`; POST to `…/password` changes the
 * password from `current` to `next`; POST to `…/end` signs out. A cookie keeps
 * the session, so nothing but a page of ours may change it.
 */
export class ConsoleSignIn {
  readonly #path: string;

  constructor(private readonly options: ConsoleSignInOptions) {
    this.#path = `${options.site.base}/console/session`;
  }

  /** Whether an address is one of these. */
  isAt(target: string): boolean {
    const [path = ""] = target.split("?", 1);
    return path === this.#path || path.startsWith(`${this.#path}/`);
  }

  async handle({ method, target, headers, body, address }: HttpRequest): Promise<HttpResponse> {
    const sent: Readonly<Record<string, string | undefined>> = Object.fromEntries(
      headers.map(({ name, value }) => [name, value]),
    );
    const browser = { cookies: sent.cookie, address, userAgent: sent["user-agent"] ?? "" };
    const [path = "", query = ""] = target.split("?", 2);
    const step = path.slice(this.#path.length);
    if (method === "GET" && step === "") return this.#state(browser, new URLSearchParams(query).get("return_to") ?? "");
    if (method !== "POST") return refused(404, "There is nothing at this address: check the URL.");
    if (!isFromUs(sent, this.options.origin))
      return refused(403, "The request does not come from the console: open the console and sign in there.");
    const fields = /^application\/json\b/.test(sent["content-type"] ?? "") ? fieldsOf(body) : undefined;
    if (fields === undefined) return refused(400, "The request is not one of the console: reload the page.");
    return this.#change(step, browser, fields);
  }

  async #change(step: string, browser: Browser, fields: Record<string, string>): Promise<HttpResponse> {
    const { signIn } = this.options;
    const { email = "", password = "", current = "", next = "" } = fields;
    switch (step) {
      case "":
        return signedIn(await signIn.withPassword(browser, email, password));
      case "/password": {
        const present = await signIn.of(browser);
        if (present === undefined) return refused(401, "The session has ended: sign in again.");
        return signedIn(await signIn.changePassword(browser, present.user, current, next));
      }
      case "/end":
        return answer(200, { state: "none" }, await signIn.signOut(browser));
      default:
        return refused(404, "There is nothing at this address: check the URL.");
    }
  }

  async #state(browser: Browser, returnTo: string): Promise<HttpResponse> {
    const { signIn } = this.options;
    const present = await signIn.of(browser);
    const ways = signIn.others.map(({ label, hrefFor }) => ({ label, href: hrefFor(returnTo, false) }));
    if (present === undefined) return answer(200, { state: "none", ways });
    const state = present.mustChangePassword ? "must_change_password" : "present";
    return answer(200, { state, email: emailOf(present.user), ways });
  }
}

function signedIn(done: SignedIn | NotSignedIn): HttpResponse {
  if ("problem" in done) return refused(401, done.problem);
  const { user, setCookies } = done;
  const state = user.must_change_password === true ? "must_change_password" : "present";
  return answer(200, { state, email: emailOf(user) }, setCookies);
}

/** Short texts by name; undefined for anything else. */
function fieldsOf(body: Uint8Array): Record<string, string> | undefined {
  if (body.length > MAX_BODY) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    const isOfTexts =
      typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string");
    return isOfTexts ? (value as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}

function refused(status: number, message: string): HttpResponse {
  return answer(status, { message });
}

function answer(status: number, value: object, setCookies: readonly string[] = []): HttpResponse {
  const headers = [
    { name: "content-type", value: "application/json" },
    { name: "cache-control", value: "no-store" },
    ...setCookies.map((cookie) => ({ name: "set-cookie", value: cookie })),
  ];
  return { status, headers, body: Buffer.from(JSON.stringify(value)) };
}
