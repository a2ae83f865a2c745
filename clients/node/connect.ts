import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { type Patience, patient } from "./patience.js";
import { accountCredential, asAccount, type ServiceAccount } from "./service-account.js";

/** Where the services are, and who calls them. */
export interface Options extends Patience {
  /** Where the service listens, such as http://127.0.0.1:50051; with https: over TLS. */
  readonly baseUrl: string;
  /** An API key, whose user makes every call; or a service account, which signs, exchanges and renews by itself. */
  readonly apiKey: string | ServiceAccount;
  /** grpc where a proxy in between speaks only gRPC; connect by default. */
  readonly protocol?: "connect" | "grpc";
  /** 1.1 for the façade's /rpc, which takes JSON, and for proxies without HTTP/2; Connect only. 2 by default. */
  readonly httpVersion?: "1.1" | "2";
}

/**
 * A typed client of one of our services, over Connect or gRPC. Failures are
 * ConnectErrors. Calls of one answer have a deadline, and are made again where
 * that is safe: see Patience.
 *
 * @example
 * const agents = connectClient(AgentService, { baseUrl, apiKey });
 * const { agents: page } = await agents.listAgents({ pageSize: 20 });
 */
export function connectClient<S extends DescService>(
  service: S,
  { baseUrl, apiKey, protocol, httpVersion = "2", ...patience }: Options,
): Client<S> {
  const transportWith = (interceptors: Interceptor[]): Transport => {
    const transport =
      protocol === "grpc"
        ? createGrpcTransport({ baseUrl, interceptors })
        : createConnectTransport({ baseUrl, httpVersion, useBinaryFormat: httpVersion === "2", interceptors });
    return patient(transport, patience);
  };
  const authorize =
    typeof apiKey === "string" ? withKey(apiKey) : asAccount(accountCredential(transportWith([]), apiKey));
  return createClient(service, transportWith([authorize]));
}

function withKey(apiKey: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
}
