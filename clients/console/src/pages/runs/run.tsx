import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { type Run, RunState, RunTrigger } from "#api/core/v1/run_pb";
import { RunService } from "#api/core/v1/run_service_pb";
import { exactly } from "../../format";
import { useRefresh } from "../../service/refresh";
import { StatusBadge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Confirm } from "../../ui/confirm";
import { CopyButton } from "../../ui/copy";
import { Dialog } from "../../ui/dialog";
import { Failure, Notice, Skeleton } from "../../ui/notice";
import { useFollowing } from "./following";
import { Payload } from "./payload";
import { Question } from "./question";
import { Steps } from "./steps";
import { costOf, hasEnded, isGoing, standingOf, tookOf } from "./words";

/** How often a run that waits for its person is read again, in milliseconds. */
const AGAIN_MS = 5_000;

/** Agents > Runs > one of them. */
export function Page() {
  const { runId = "" } = useParams({ strict: false }) as { runId?: string };
  const { data, error, isPending, refetch } = useQuery(
    RunService.method.getRun,
    { runId },
    {
      refetchInterval: ({ state: { data: last } }) => (last?.run?.state === RunState.AWAITING_INPUT ? AGAIN_MS : false),
    },
  );
  return (
    <>
      <p>
        <Link to={"/agents/runs" as never}>All runs</Link>
      </p>
      {error && !data ? (
        <>
          <h1>Run</h1>
          <Failure error={error} what="This run" retry={() => void refetch()} />
        </>
      ) : isPending || data?.run === undefined ? (
        <>
          <h1>Run</h1>
          <Skeleton what="the run" />
        </>
      ) : (
        <OneRun key={runId} run={data.run} />
      )}
    </>
  );
}

function OneRun({ run }: { run: Run }) {
  const refresh = useRefresh(RunService.method.getRun, RunService.method.listRunSteps, RunService.method.listRuns);
  const following = useFollowing(run.id, isGoing(run), () => void refresh());
  const [open, setOpen] = useState<"stop" | "whole">();
  const close = (): void => setOpen(undefined);
  const { status, word } = standingOf(run);
  return (
    <>
      <div className="head">
        <div>
          <h1>{run.agent?.name ?? "Run"}</h1>
          <p>
            <StatusBadge status={status} word={word} />
          </p>
        </div>
        {!hasEnded(run) && (
          <Button look="danger" onPress={() => setOpen("stop")}>
            Stop
          </Button>
        )}
      </div>
      <p className="sr" role="status">
        {word}, {run.stepCount} {run.stepCount === 1 ? "step" : "steps"}
      </p>
      {following.isCut && (
        <Notice title="Reconnecting">The run goes on. What it does is shown again in a moment.</Notice>
      )}
      {run.error && (
        <Notice tone={run.state === RunState.CANCELLED ? "warn" : "error"} title={word}>
          {run.error.message}
        </Notice>
      )}
      {run.state === RunState.AWAITING_INPUT && <Question run={run} changed={refresh} />}
      <Text title="Task" text={run.input} />
      {following.text !== "" && <Text title="It writes" text={following.text} />}
      {run.output !== undefined && (
        <Text title={run.state === RunState.COMPLETED ? "Answer" : "What it wrote"} text={run.output}>
          {run.outputCharacters !== undefined && (
            <Button onPress={() => setOpen("whole")}>Read all {run.outputCharacters} characters</Button>
          )}
          <CopyButton text={run.output} what="the answer" />
        </Text>
      )}
      <h2>Steps</h2>
      <Steps runId={run.id} traceId={run.traceId} isGoing={isGoing(run)} />
      <h2>Facts</h2>
      <Facts run={run} />
      <Dialog isOpen={open === "stop"} isAlert onClose={close}>
        {(done) => <Stop run={run} refresh={refresh} close={done} />}
      </Dialog>
      <Dialog isOpen={open === "whole"} onClose={close}>
        {(done) => (
          <Payload
            title="The whole answer"
            traceId={run.traceId}
            previews={{ input: run.input, output: run.output ?? "" }}
            close={done}
          />
        )}
      </Dialog>
    </>
  );
}

function Text({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  const id = `text-${title.replace(/\W/g, "")}`;
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-bar">
        <h2 id={id}>{title}</h2>
        {children && <div className="actions">{children}</div>}
      </div>
      <p className="said">{text}</p>
    </section>
  );
}

function Facts({ run }: { run: Run }) {
  const { inputTokens, outputTokens, cost, startedAt, endedAt } = run;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Begun by", run.trigger === RunTrigger.SCHEDULE ? "A schedule" : "You"],
    ["Assignment", run.assignment?.name],
    ["Model", run.model],
    ["Version of the agent", run.agentVersion],
    ["Tokens read", inputTokens?.toLocaleString("en")],
    ["Tokens written", outputTokens?.toLocaleString("en")],
    ["Cost", cost && costOf(cost)],
    ["Triggered", timeOf(run.createdAt)],
    ["Started to work", timeOf(startedAt)],
    ["Ended", timeOf(endedAt)],
    ["Took", startedAt && endedAt && tookOf(timestampMs(endedAt) - timestampMs(startedAt))],
    [
      "Trace",
      <>
        <code>{run.traceId}</code>
        <CopyButton text={run.traceId} what="the trace id" />
      </>,
    ],
    ["Left out", run.leftOut.length > 0 ? run.leftOut.join("; ") : undefined],
  ];
  return (
    <div className="panel">
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== undefined && value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}

function timeOf(at: Timestamp | undefined): ReactNode {
  return at && exactly(at);
}

function Stop({ run, refresh, close }: { run: Run; refresh: () => Promise<void>; close: () => void }) {
  const { isPending, error, mutate } = useMutation(RunService.method.updateRun, {
    onSuccess: () => {
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title="Stop this run?"
      keep="Keep it"
      doIt="Stop run"
      failed="It was not stopped"
      work={{ isPending, error, run: () => mutate({ runId: run.id, cancel: true }) }}
      close={close}
    >
      <p>It ends within seconds. What it has done already is not undone.</p>
    </Confirm>
  );
}
