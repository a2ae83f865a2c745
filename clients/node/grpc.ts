import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type CallOptions,
  type ChannelCredentials,
  type ClientReadableStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { FIRST_WAIT_MS, isRepeatable, LONGEST_WAIT_MS, type Patience, RETRIES, TIMEOUT_MS } from "./patience.js";

/** Where the services are, and who calls them. */
export interface Options extends Patience {
  /** Host and port, such as 127.0.0.1:50051. */
  readonly address: string;
  /** How the connection is secured: credentials.createSsl() where TLS is; without it by default. */
  readonly channel?: ChannelCredentials;
  /** An API key; every call is made as its user and meets that user's gates. */
  readonly apiKey: string;
}

type Unary<S extends DescService> = {
  [K in keyof S["method"] as S["method"][K]["methodKind"] extends "unary" ? K : never]: (
    request: MessageInitShape<S["method"][K]["input"]>,
    options?: CallOptions,
  ) => Promise<MessageShape<S["method"][K]["output"]>>;
};

type Streaming<S extends DescService> = {
  [K in keyof S["method"] as S["method"][K]["methodKind"] extends "server_streaming" ? K : never]: (
    request: MessageInitShape<S["method"][K]["input"]>,
    options?: CallOptions,
  ) => AsyncIterable<MessageShape<S["method"][K]["output"]>>;
};

/** A client of one service: a function an rpc. `close` ends its connection. */
export type GrpcClient<S extends DescService> = Unary<S> & Streaming<S> & { close(): void };

/**
 * A typed client of one of our services on `@grpc/grpc-js`, for systems that
 * have their interceptors, balancing and credentials there. Failures are
 * grpc-js ServiceErrors. Calls of one answer have a deadline, and those that
 * may be repeated are where the service is not there; a wait that it asks for
 * is the caller's.
 *
 * @example
 * const agents = grpcClient(AgentService, { address, apiKey });
 * const { agents: page } = await agents.listAgents({ pageSize: 20 });
 */
export function grpcClient<S extends DescService>(
  service: S,
  { address, apiKey, channel = credentials.createInsecure(), ...patience }: Options,
): GrpcClient<S> {
  const Constructor = makeGenericClientConstructor(definitionOf(service), service.name);
  const client = new Constructor(address, channel, { "grpc.service_config": serviceConfigOf(service, patience) });
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${apiKey}`);

  const calls: Record<string, unknown> = { close: () => client.close() };
  for (const method of service.methods) {
    if (method.methodKind === "unary") {
      calls[method.localName] = (request: MessageInitShape<typeof method.input>, options: CallOptions = {}) =>
        new Promise<Message>((resolve, reject) => {
          client.makeUnaryRequest(
            pathOf(method),
            serialize(method.input),
            deserialize(method.output),
            create(method.input, request),
            metadata,
            options,
            (error: ServiceError | null, reply?: Message) => (error ? reject(error) : resolve(reply as Message)),
          );
        });
    } else if (method.methodKind === "server_streaming") {
      calls[method.localName] = (
        request: MessageInitShape<typeof method.input>,
        options: CallOptions = {},
      ): ClientReadableStream<Message> =>
        client.makeServerStreamRequest(
          pathOf(method),
          serialize(method.input),
          deserialize(method.output),
          create(method.input, request),
          metadata,
          options,
        );
    }
  }
  return calls as GrpcClient<S>;
}

/** Deadlines and repetitions in gRPC's own words ("Service Config", gRFC A6). */
function serviceConfigOf(service: DescService, { timeoutMs = TIMEOUT_MS, retries = RETRIES }: Patience): string {
  const retryPolicy = {
    maxAttempts: retries + 1,
    initialBackoff: `${FIRST_WAIT_MS / 1_000}s`,
    maxBackoff: `${LONGEST_WAIT_MS / 1_000}s`,
    backoffMultiplier: 2,
    retryableStatusCodes: ["UNAVAILABLE"],
  };
  const methodConfig = service.methods.map((method) => ({
    name: [{ service: service.typeName, method: method.name }],
    ...(method.methodKind === "unary" && timeoutMs > 0 && { timeout: `${timeoutMs / 1_000}s` }),
    ...(retries > 0 && isRepeatable(method, {}) && { retryPolicy }),
  }));
  return JSON.stringify({ methodConfig });
}

/** The service in grpc-js's terms, for servers and for clients of one's own. */
export function definitionOf(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.name,
      {
        path: pathOf(method),
        originalName: method.localName,
        requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
        responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
        requestSerialize: serialize(method.input),
        requestDeserialize: deserialize(method.input),
        responseSerialize: serialize(method.output),
        responseDeserialize: deserialize(method.output),
      },
    ]),
  );
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

const serialize =
  (desc: DescMethod["input"]) =>
  (message: Message): Buffer =>
    Buffer.from(toBinary(desc, message));

const deserialize =
  (desc: DescMethod["input"]) =>
  (bytes: Buffer): Message =>
    fromBinary(desc, bytes);
