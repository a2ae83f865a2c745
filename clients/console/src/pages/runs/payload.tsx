import { ConnectError, Code as ErrorCode } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Heading } from "react-aria-components";
import { TraceInspectionService } from "#api/traces/v1/trace_inspection_service_pb";
import { Button } from "../../ui/button";
import { Choice } from "../../ui/choice";
import { Code } from "../../ui/code";
import { CopyButton } from "../../ui/copy";
import { Failure, Notice, Skeleton } from "../../ui/notice";

const FIELDS = [
  { id: "output", name: "Answer" },
  { id: "input", name: "Input" },
];

/** What went into a step, or a run, and what came of it: whole, from the trace, a page at a time. */
export function Payload({
  title,
  traceId,
  spanId = "",
  previews,
  close,
}: {
  title: string;
  traceId: string;
  spanId?: string;
  /** The beginnings, as long as the trace has nothing. */
  previews: Readonly<Record<"input" | "output", string>>;
  close: () => void;
}) {
  const [field, setField] = useState<"input" | "output">("output");
  const [page, setPage] = useState(1);
  const { data, error, isPending, refetch } = useQuery(
    TraceInspectionService.method.getTracePayload,
    { traceId, spanId, field, page },
    { retry: false },
  );
  const isAbsent = error !== null && ConnectError.from(error).code === ErrorCode.NotFound;
  return (
    <>
      <Heading slot="title">{title}</Heading>
      <Choice
        label="What is shown"
        value={field}
        items={FIELDS}
        onChange={(id) => {
          setField(id as "input" | "output");
          setPage(1);
        }}
      />
      {isAbsent ? (
        <>
          <Notice title="The trace does not have this">
            {previews[field] === "" ? "There is nothing to show." : "Its beginning is below."}
          </Notice>
          {previews[field] !== "" && <Code label={title} text={previews[field]} />}
        </>
      ) : error ? (
        <Failure error={error} what="The text" retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton what="the text" />
      ) : (
        <Code label={`${title}, page ${data.page} of ${data.pageCount}`} text={indented(data.text)} />
      )}
      <div className="actions">
        {data !== undefined && data.pageCount > 1 && (
          <>
            <span className="faint">
              Page {data.page} of {data.pageCount}
            </span>
            <Button isDisabled={page === 1} onPress={() => setPage(page - 1)}>
              Previous
            </Button>
            <Button isDisabled={page >= data.pageCount} onPress={() => setPage(page + 1)}>
              Next
            </Button>
          </>
        )}
        {data !== undefined && <CopyButton text={data.text} what="this page" label="Copy" />}
        <Button onPress={close} autoFocus>
          Close
        </Button>
      </div>
    </>
  );
}

/** JSON as people read it; a page of a longer text as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
