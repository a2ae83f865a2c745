import type {
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { LRUCache } from "lru-cache";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import type { Call, Credential } from "./call.js";
import type { Dispatch } from "./dispatch.js";
import { internal } from "./errors.js";
import { type ServiceName, serviceOf } from "./service.js";

/** How a service calls the other services. */
export interface Peers {
  /** Calls on behalf of the caller: the assertion is exchanged for the next audience, never forwarded. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    call: Call,
  ): Promise<MessageShape<O>>;

  /** Calls on behalf of the caller, and gives the responses as they come. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    call: Call,
  ): AsyncIterable<MessageShape<O>>;

  /** Calls as this service itself. */
  callAsService<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): Promise<MessageShape<O>>;
}

const KEPT = 10_000;

/**
 * Calls services by a dispatch; exchanged assertions are kept until they end.
 *
 * @param self this service's own credential: an API key of the service account.
 */
export function createPeers(dispatch: Dispatch, self: Credential): Peers {
  const exchanged = new LRUCache<string, { readonly assertion: string; readonly until: number }>({ max: KEPT });

  async function exchange(subjectToken: string, audience: ServiceName): Promise<string> {
    const key = `${audience} ${subjectToken}`;
    const kept = exchanged.get(key);
    if (kept !== undefined && kept.until > Date.now() + 5_000) return kept.assertion;
    const { assertion, expiresAt } = await dispatch.unary(
      CredentialService.method.exchangeAssertion,
      { subjectToken, audience },
      { credential: self, deadline: Date.now() + 2_000 },
    );
    exchanged.set(key, { assertion, until: expiresAt === undefined ? 0 : timestampMs(expiresAt) });
    return assertion;
  }

  function assertionFor(method: DescMethod, call: Call): Promise<string> {
    const audience = serviceOf(method);
    if (audience === undefined) throw internal(`no service answers ${method.parent.typeName}`);
    return exchange(call.assertion, audience);
  }

  return {
    async *stream(method, request, call) {
      const assertion = await assertionFor(method, call);
      const { signal, deadline, traceparent } = call;
      yield* dispatch.stream(method, request, { credential: { assertion }, signal, deadline, traceparent });
    },
    async call(method, request, call) {
      const assertion = await assertionFor(method, call);
      const { deadline, traceparent } = call;
      return dispatch.unary(method, request, {
        credential: { assertion },
        // Made only where somebody asks for it.
        get signal() {
          return call.signal;
        },
        deadline,
        signalsDeadline: true,
        traceparent,
      });
    },
    callAsService: (method, request, signal) =>
      dispatch.unary(method, request, { credential: self, signal, deadline: Date.now() + 5_000 }),
  };
}
