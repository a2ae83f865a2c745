import { BelongingsService } from "#proto/core/v1/belongings_service_pb.js";
import { type Method, unary } from "../../shared/rpc/method.js";
import type { Context } from "../context.js";
import { handOver } from "./hand-over.js";
import { listBelongings } from "./list-belongings.js";
import { stopWork } from "./stop-work.js";

/** The rpcs about what people own, and leave behind. */
export function belongingsRoutes(context: Context): readonly Method[] {
  const belongings = BelongingsService.method;
  return [
    unary(belongings.listBelongings, (request) => listBelongings(context, request)),
    unary(belongings.handOver, (request, call) => handOver(context, request, call)),
    unary(belongings.stopWork, (request) => stopWork(context, request)),
  ];
}
