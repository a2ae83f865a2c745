import type { DescMethod } from "@bufbuild/protobuf";
import type { Dispatch } from "../shared/rpc/dispatch.js";
import { type Addresses, connectRemote } from "../shared/rpc/remote.js";
import { type ServiceName, serviceOf } from "../shared/rpc/service.js";

/** Sends each call to the service that answers it: in this process, or where its address says. */
export interface Routing extends Dispatch {
  /** From now on a service is answered in this process. */
  mount(service: ServiceName, local: Dispatch): void;
}

/** @param addresses where the services are that no process-local one answers for. */
export function createRouting(addresses: Addresses): Routing {
  const mounted = new Map<ServiceName, Dispatch>();
  const remote = connectRemote(addresses);
  const of = (method: DescMethod): Dispatch => {
    const service = serviceOf(method);
    return (service && mounted.get(service)) ?? remote;
  };
  return {
    mount: (service, local) => void mounted.set(service, local),
    unary: (method, request, out) => of(method).unary(method, request, out),
    stream: (method, request, out) => of(method).stream(method, request, out),
    duplex: (method, requests, out) => of(method).duplex(method, requests, out),
  };
}
