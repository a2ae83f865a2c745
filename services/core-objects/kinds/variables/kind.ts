import { VariableSchema, VariableService } from "#proto/core/v1/variable_service_pb.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { keptValue, keptValueAfter } from "./kept-value.js";
import { lacksValue, type VariableRecord } from "./record.js";

const { listVariables, getVariable, createVariable, updateVariable, deleteVariable } = VariableService.method;

/** Variables: values that tools and agents take by reference, secret ones among them. */
export const kind = defineKind({
  noun: "variable",
  plural: "variables",
  message: VariableSchema,
  view: (record: VariableRecord) => ({
    value: record.secret ? undefined : record.value,
    secret: record.secret,
    endsWith: record.ends_with === "" ? undefined : record.ends_with,
    lacksValue: lacksValue(record) ? true : undefined,
  }),
  reseal: ({ sealed }, again) => (sealed === "" ? {} : { sealed: again(sealed, "sealed") }),
  list: {
    rpc: listVariables,
    without: ["value"],
    hidden: ["owner", "sharing", "etag", "createdAt", "updatedAt"],
  },
  get: { rpc: getVariable },
  create: { rpc: createVariable, content: ({ value, secret }, writer) => keptValue(value, secret, writer) },
  update: {
    rpc: updateVariable,
    changes: ({ name, value, secret }, current, writer) => ({
      ...given({ name }),
      ...keptValueAfter(current, { value, secret }, writer),
    }),
  },
  delete: { rpc: deleteVariable },
  leaving: {
    reads: ["sealed"],
    holdsSecret: ({ sealed }) => sealed !== "",
    passed: ({ sealed }) =>
      sealed === ""
        ? undefined
        : {
            changes: { sealed: "", ends_with: "", enabled: false },
            notes: ["its secret value was deleted, and it is disabled: set a value and enable it with update_variable"],
          },
  },
});
