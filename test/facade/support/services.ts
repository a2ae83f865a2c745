import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { EndpointAvailability, EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { type RegisterPlatformRequest, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { canceled, unauthenticated } from "../../../services/shared/rpc/errors.js";
import { type Method, serverStream, unary } from "../../../services/shared/rpc/method.js";
import {
  type CountSightingsResponseSchema,
  SightingService,
  WritingService,
} from "../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";

/** What the fixture services answer with; a test turns it. */
export interface World {
  /** By server; one that is not here is open. */
  availability: Map<string, EndpointAvailability>;
  /** The tools a caller sees, by the caller's id; "*" for everyone else. */
  visible: Map<string, readonly string[]>;
  keepMs: number;
  /** Set: the catalogue does not answer. */
  catalogueDown: boolean;
  /** How often the catalogue was asked. */
  asked: { states: number; visible: number; reasons: number };
  /** The signals of calls that wait, by name. */
  waiting: Map<string, AbortSignal>;
  registered: RegisterPlatformRequest[];
}

export const ALL_TOOLS = [
  "echo_sighting",
  "page_sightings",
  "count_sightings",
  "route_sighting",
  "drop_sighting",
  "fail_sighting",
  "wait_for_sighting",
];

export function createWorld(): World {
  return {
    availability: new Map(),
    visible: new Map([["*", ALL_TOOLS]]),
    keepMs: 60_000,
    catalogueDown: false,
    asked: { states: 0, visible: 0, reasons: 0 },
    waiting: new Map(),
    registered: [],
  };
}

const OPEN = EndpointAvailability.OPEN;

/** Small services of the fixtures, as real as any: they run through the chain. */
export function fixtureMethods(world: World, servers: readonly string[]): Method[] {
  return [
    unary(EndpointService.method.getEndpointStates, () => {
      world.asked.states++;
      if (world.catalogueDown) throw new ConnectError("down", 14);
      return {
        endpoints: servers.map((server) => ({ server, availability: world.availability.get(server) ?? OPEN })),
      };
    }),
    unary(EndpointService.method.listVisibleTools, (_request, { caller }) => {
      world.asked.visible++;
      if (world.catalogueDown) throw new ConnectError("down", 14);
      return { tools: [...(world.visible.get(caller.id) ?? world.visible.get("*") ?? [])], keepMs: world.keepMs };
    }),
    unary(EndpointService.method.explainTool, ({ tool }, { caller }) => {
      world.asked.reasons++;
      if (world.catalogueDown) throw new ConnectError("down", 14);
      const seen = world.visible.get(caller.id) ?? world.visible.get("*") ?? [];
      return { reason: seen.includes(tool) ? "" : `${tool} needs what you lack` };
    }),
    unary(SettingService.method.checkRegistrationToken, ({ token }) => {
      if (token !== "registration") throw unauthenticated("the registration token is not known");
      return {};
    }),
    unary(SettingService.method.registerPlatform, (request) => {
      if (request.token !== "registration") throw unauthenticated("the registration token is not known here");
      world.registered.push(request);
      return { server: "cti" };
    }),
    unary(PlatformTokenService.method.getPlatformIssuer, () => ({
      issuer: "https://mcp.example.com/base",
      jwks: '{"keys":[{"kty":"OKP","crv":"Ed25519"}]}',
    })),
    unary(SightingService.method.echoSighting, ({ sighting, word }, { caller: { id: caller } }) =>
      sighting === undefined ? { word, caller } : { sighting, word, caller },
    ),
    unary(SightingService.method.pageSightings, ({ pageSize }) => ({
      sightings: Array.from({ length: pageSize }, (_, i) => ({ id: `sighting-${i}`, sensor: "x".repeat(500) })),
      nextPageToken: "next",
      totalSize: 100_000,
    })),
    serverStream(SightingService.method.countSightings, count),
    unary(SightingService.method.routeSighting, ({ region, tenantId }) => ({ region: region ?? "", tenant: tenantId })),
    unary(WritingService.method.dropSighting, () => ({})),
    unary(WritingService.method.failSighting, ({ code }) => {
      if (code === 0) throw new Error("a fault with a secret in it");
      throw new ConnectError("what went wrong and what to do", code);
    }),
    unary(WritingService.method.waitForSighting, ({ name }, { signal }) => {
      world.waiting.set(name, signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(canceled("cancelled")), { once: true });
      });
    }),
  ];
}

async function* count({
  steps,
  stepMs,
}: {
  readonly steps: number;
  readonly stepMs: number;
}): AsyncIterable<MessageInitShape<typeof CountSightingsResponseSchema>> {
  for (let done = 1; done <= steps; done++) {
    yield { event: { case: "progress", value: { done, total: steps, message: `step ${done}` } } };
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
  yield { event: { case: "result", value: { counted: steps } } };
}
