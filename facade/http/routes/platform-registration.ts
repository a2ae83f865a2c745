import { Code, ConnectError } from "@connectrpc/connect";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Slot } from "../../../services/shared/limits/slots.js";
import type { Credential } from "../../../services/shared/rpc/call.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import type { Arrival } from "../../admission/admit.js";
import { bearerOf, isUnexpanded } from "../../admission/bearer.js";
import { UNEXPANDED } from "../../admission/refusals.js";
import type { RequestSlots } from "../../admission/slots.js";
import { isObject } from "../../mcp/json-rpc.js";
import { type BodyStream, JSON_HEADERS, wholeOf } from "../exchange.js";
import { jsonPage, type Page, type PageRequest, type Route } from "../route.js";

/** Who takes registrations, and what the reply says of us. */
export interface RegistrationOptions {
  readonly dispatch: Dispatch;
  /** The façade's own credential. */
  readonly self: Credential;
  readonly slots: RequestSlots;
  readonly version: string;
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

const BUSY = "the service cannot register platforms at the moment: try again in a few seconds";
/** Longest body of a registration, in bytes, with a licence certificate in it. */
const MAX_BODY = 64 << 10;
const TIMEOUT_MS = 10_000;

/**
 * POST /api/v1/platform/register: a platform registers itself, and again every
 * few minutes as its heartbeat, with a registration token as the bearer.
 */
export function registrationRoutes({ dispatch, self, slots, version, base }: RegistrationOptions): Route[] {
  async function register(token: string, body: Record<string, unknown>): Promise<Page> {
    const text = (name: string): string => {
      const value = body[name];
      return typeof value === "string" ? value : "";
    };
    await dispatch.unary(
      SettingService.method.registerPlatform,
      {
        token,
        platformIdentifier: text("platform_identifier"),
        platformUrl: text("platform_url"),
        platformTitle: text("platform_title"),
        platformVersion: text("platform_version"),
        platformId: text("platform_id"),
      },
      { credential: self, deadline: Date.now() + TIMEOUT_MS },
    );
    return jsonPage(200, {
      status: "registered",
      version,
      platform_identifier: text("platform_identifier"),
      ee_enabled: false,
      user_integrations: [],
      chat_web_token: null,
      intent_catalog: [],
    });
  }

  function enter(arrival: Arrival): Slot | Page {
    const token = bearerOf(arrival.headers.authorization);
    if (token === undefined) return refusal(401, "no registration token was sent: send it as a bearer token");
    if (isUnexpanded(token)) return refusal(401, UNEXPANDED);
    const slot = slots.registering(arrival);
    return typeof slot === "string" ? refusal(503, BUSY) : slot;
  }

  async function handle({ headers, body }: PageRequest<BodyStream>): Promise<Page> {
    const token = bearerOf(headers.authorization) as string;
    let given: unknown;
    try {
      const out = { credential: self, deadline: Date.now() + TIMEOUT_MS };
      // Who registers is known before anything of the body is read.
      await dispatch.unary(SettingService.method.checkRegistrationToken, { token }, out);
      given = JSON.parse((await wholeOf(body)).toString());
    } catch (error) {
      // What is answered then is said by the body itself.
      if (body.unread !== undefined) return refusal(400, "the body was not read");
      if (error instanceof ConnectError) return refusalOf(error);
      return refusal(400, "the body is not JSON");
    }
    if (!isObject(given)) return refusal(400, "the body must be an object");
    const unknown = Object.keys(given).find((name) => !MEMBERS.has(name));
    if (unknown !== undefined) {
      return refusal(
        400,
        `${unknown.slice(0, MAX_SHOWN)}: unknown member; known members are ${[...MEMBERS].join(", ")}`,
      );
    }
    try {
      return await register(token, given);
    } catch (error) {
      return refusalOf(error);
    }
  }

  const path = `${base}/api/v1/platform/register`;
  return [{ path, methods: ["POST"], takes: "stream", maxBody: MAX_BODY, enter, handle }];
}

/** What a platform says of itself in a registration (the XTM registration contract); of some of it we make no use. */
const MEMBERS: ReadonlySet<string> = new Set([
  "platform_identifier",
  "platform_url",
  "platform_title",
  "platform_version",
  "platform_id",
  "enterprise_license_pem",
  "license_type",
  "business_vertical",
  "intents",
]);
/** Longest name that is repeated to who sent it, in characters. */
const MAX_SHOWN = 64;

const STATUS_OF: Partial<Record<Code, number>> = {
  [Code.Unauthenticated]: 401,
  [Code.PermissionDenied]: 403,
  [Code.InvalidArgument]: 400,
  [Code.FailedPrecondition]: 409,
  [Code.AlreadyExists]: 409,
  [Code.NotFound]: 404,
  [Code.ResourceExhausted]: 429,
};

function refusalOf(error: unknown): Page {
  const { code, rawMessage } = ConnectError.from(error);
  const status = STATUS_OF[code];
  return status === undefined ? refusal(503, BUSY) : refusal(status, rawMessage);
}

function refusal(status: number, message: string): Page {
  return jsonPage(status, { status: "refused", message }, [
    ...JSON_HEADERS,
    ...(status === 401 ? ["www-authenticate", "Bearer"] : []),
    ...(status === 503 ? ["retry-after", "5"] : []),
  ]);
}
