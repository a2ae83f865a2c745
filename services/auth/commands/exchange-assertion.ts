import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  ExchangeAssertionRequest,
  ExchangeAssertionResponseSchema,
} from "#proto/auth/v1/credential_service_pb.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { SERVICE_NAMES } from "../../shared/rpc/service.js";
import { currentCaller, verifyOwn } from "../authenticator.js";
import type { Context } from "../context.js";
import { DELEGATED } from "../scopes.js";

/** Mints an assertion for the next service; it says no more than the one exchanged and ends with it. */
export async function exchangeAssertion(
  { assertionRing, assertions, verification }: Context,
  request: ExchangeAssertionRequest,
): Promise<MessageInitShape<typeof ExchangeAssertionResponseSchema>> {
  const audience = SERVICE_NAMES.find((name) => name === request.audience);
  if (audience === undefined) throw invalidArgument(`audience must be one of ${SERVICE_NAMES.join(", ")}`);
  const claims = await verifyOwn(request.subjectToken, assertionRing, SERVICE_NAMES);
  const { caller, seq } = await currentCaller(claims, verification);
  // A service that has its own assertion said again is not calling on.
  const callsOn = claims.aud !== audience && !caller.service;
  const scopes = callsOn ? new Set([...caller.scopes, DELEGATED]) : caller.scopes;
  const expiresAt = claims.exp as number;
  const assertion = await assertions.mint({ ...caller, scopes }, audience, seq, expiresAt);
  return { assertion, expiresAt: timestampFromMs(expiresAt * 1000) };
}
