import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { RunService, type RunStep, RunStepKind, RunStepState } from "#api/core/v1/run_service_pb";
import { type Status, StatusBadge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Failure, Skeleton } from "../../ui/notice";
import { Pager, usePages } from "../../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../../ui/table";
import { Payload } from "./payload";
import { tookOf } from "./words";

const KINDS: Readonly<Record<RunStepKind, string>> = {
  [RunStepKind.UNSPECIFIED]: "Step",
  [RunStepKind.MODEL]: "Model",
  [RunStepKind.TOOL]: "Tool",
  [RunStepKind.QUESTION]: "Question",
};
const STATES: Readonly<Record<RunStepState, readonly [Status, string]>> = {
  [RunStepState.UNSPECIFIED]: ["absent", "Not known"],
  [RunStepState.RUNNING]: ["registered", "In progress"],
  [RunStepState.COMPLETED]: ["connected", "Answered"],
  [RunStepState.FAILED]: ["failed", "Failed"],
  [RunStepState.UNKNOWN]: ["late", "Interrupted"],
};

/** The steps of a run, a page at a time: what a model called stands below its step, with when and how long. */
export function Steps({ runId, traceId, isGoing }: { runId: string; traceId: string; isGoing: boolean }) {
  const pages = usePages();
  const [open, setOpen] = useState<RunStep>();
  const { data, error, isPending, refetch } = useQuery(RunService.method.listRunSteps, {
    runId,
    pageSize: 50,
    pageToken: pages.token,
  });
  if (error) return <Failure error={error} what="The steps" retry={() => void refetch()} />;
  if (isPending) return <Skeleton what="the steps" />;
  if (data.steps.length === 0) return <p className="faint">{isGoing ? "No step has begun." : "It made no step."}</p>;
  return (
    <>
      <StepTable steps={data.steps} onOpen={setOpen} />
      <Pager pages={pages} nextToken={data.nextPageToken ?? ""} />
      <Dialog isOpen={open !== undefined} onClose={() => setOpen(undefined)}>
        {(close) =>
          open && (
            <Payload
              title={`Step ${open.number}: ${open.name}`}
              traceId={traceId}
              spanId={open.spanId}
              previews={{ input: open.input, output: open.output }}
              close={close}
            />
          )
        }
      </Dialog>
    </>
  );
}

function StepTable({ steps, onOpen }: { steps: readonly RunStep[]; onOpen: (step: RunStep) => void }) {
  const from = Math.min(...steps.map(({ startedAt }) => msOf(startedAt)));
  const to = Math.max(...steps.map(({ startedAt, durationMs = 0 }) => msOf(startedAt) + durationMs), from + 1);
  return (
    <div className="panel">
      <Table aria-label="Steps" className="table wrap tree">
        <TableHeader>
          <Column>Step</Column>
          <Column>State</Column>
          <Column>When</Column>
          <Column>Took</Column>
          <Column>Answer</Column>
        </TableHeader>
        <TableBody>
          {steps.map((step) => (
            <Row key={step.number}>
              <Cell isHeader className={step.kind === RunStepKind.MODEL ? "" : "under"}>
                <Button look="quiet" onPress={() => onOpen(step)} aria-label={`Open step ${step.number}: ${step.name}`}>
                  {step.number}. {step.name}
                </Button>
                <span className="faint"> {KINDS[step.kind]}</span>
              </Cell>
              <Cell>
                <StatusBadge status={STATES[step.state][0]} word={STATES[step.state][1]} />
                {step.approved !== undefined && (
                  <span className="faint"> {step.approved ? "You said yes" : "You said no"}</span>
                )}
              </Cell>
              <Cell>
                <span className="bar" aria-hidden>
                  <i
                    style={{
                      marginLeft: `${(100 * (msOf(step.startedAt) - from)) / (to - from)}%`,
                      width: `${(100 * (step.durationMs ?? to - msOf(step.startedAt))) / (to - from)}%`,
                    }}
                  />
                </span>
                <span className="sr">{tookOf(msOf(step.startedAt) - from)} after the first step shown</span>
              </Cell>
              <Cell>
                {step.durationMs === undefined ? <span className="faint">Not ended</span> : tookOf(step.durationMs)}
              </Cell>
              <Cell>{step.output || step.input}</Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}

function msOf(at: Timestamp | undefined): number {
  return at === undefined ? 0 : timestampMs(at);
}
