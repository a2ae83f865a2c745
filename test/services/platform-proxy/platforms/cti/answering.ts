import { Kind, parse } from "graphql";
import { startAnswering } from "../../../../support/platforms/answering.js";
import { type Exchange, readNamed, readRecording } from "../../../../support/platforms/recording.js";

type Data = Readonly<Record<string, unknown>>;

const named = readNamed("cti-answers");

/** The data that a real platform answered, by the name of the exchange; of lists the first two rows. */
export const answered = (name: string): Data => (named(name).answer as { data: Data }).data;

/** Every refusal of a real platform, by what had been tried. */
export const REFUSALS: readonly (readonly [name: string, refusal: Exchange])[] = readRecording("cti-answers")
  .exchanges.filter(({ status, answer }) => status !== 200 || (answer as { errors?: unknown }).errors !== undefined)
  .map((exchange) => [exchange.name, exchange]);

/** A platform that answers every root field with what the real one had answered to that field. */
export interface CtiAnswering {
  readonly url: string;
  /** The root fields of the requests since the last script, with their variables. */
  readonly asked: { readonly field: string; readonly variables: Data }[];
  /** What to answer from now on: of each root field one answer after the other, the last one for good. */
  script(names: readonly string[]): void;
  /** Adds answers that the recording does not hold, by root field. */
  give(data: Data): void;
  /** Refuses everything but "who am I" from now on. */
  refuse(refusal: Exchange): void;
  /** Frees its port. */
  close(): Promise<void>;
}

/** Starts a platform that has no answers yet. */
export async function startCtiAnswering(): Promise<CtiAnswering> {
  let queues = new Map<string, unknown[]>();
  let refusal: Exchange | undefined;
  const asked: CtiAnswering["asked"] = [];

  const { url, close } = await startAnswering(({ body }) => {
    const { query, variables } = body as { query: string; variables: Data };
    const data: Record<string, unknown> = {};
    for (const { name, alias } of rootFieldsOf(query)) {
      if (name !== "me" && refusal !== undefined) return refusal;
      asked.push({ field: name, variables });
      const queue = queues.get(name) ?? [];
      if (queue.length === 0) return undefined;
      data[alias] = queue.length > 1 ? queue.shift() : queue[0];
    }
    return { status: 200, answer: { data } };
  });

  function give(data: Data): void {
    for (const [field, value] of Object.entries(data)) queues.set(field, [...(queues.get(field) ?? []), value]);
  }

  return {
    url,
    close,
    asked,
    give,
    script(names) {
      queues = new Map();
      refusal = undefined;
      asked.length = 0;
      for (const name of ["me", ...names]) give(answered(name));
    },
    refuse(next) {
      refusal = next;
      asked.length = 0;
    },
  };
}

function rootFieldsOf(document: string): { name: string; alias: string }[] {
  return parse(document).definitions.flatMap((definition) =>
    definition.kind !== Kind.OPERATION_DEFINITION
      ? []
      : definition.selectionSet.selections.flatMap((field) =>
          field.kind === Kind.FIELD ? [{ name: field.name.value, alias: field.alias?.value ?? field.name.value }] : [],
        ),
  );
}
