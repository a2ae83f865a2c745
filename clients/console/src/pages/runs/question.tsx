import { ConnectError, Code as ErrorCode } from "@connectrpc/connect";
import { useMutation } from "@connectrpc/connect-query";
import type { FormEvent } from "react";
import { Form, Label, TextArea, TextField } from "react-aria-components";
import type { Run } from "#api/core/v1/run_pb";
import { RunService } from "#api/core/v1/run_service_pb";
import { useDraft } from "../../drafts";
import { writeSentenceOf } from "../../service/transport";
import { Button } from "../../ui/button";
import { Code } from "../../ui/code";
import { Notice } from "../../ui/notice";
import { tell } from "../../ui/toasts";

const FIRST = { answer: "" };

/** What a run waits for: its question, or the call that it may make if its person says yes. */
export function Question({ run, changed }: { run: Run; changed: () => Promise<void> }) {
  const [{ answer }, change] = useDraft(`answer ${run.id}`, FIRST);
  const { isPending, error, mutate } = useMutation(RunService.method.updateRun, {
    onSuccess: () => {
      change(FIRST);
      tell("Your answer was sent", "The run goes on.");
      return changed();
    },
  });
  const isChanged = error !== null && ConnectError.from(error).code === ErrorCode.Aborted;
  const { id: runId, etag, pendingCall } = run;
  const send = (approve?: boolean): void =>
    mutate({ runId, etag, answer: answer.trim(), ...(approve !== undefined && { approve }) });
  return (
    <section className="panel question" aria-labelledby="question">
      <h2 id="question">{pendingCall ? "It asks before it calls a tool" : "It asks you"}</h2>
      {!pendingCall && <p className="said">{run.question}</p>}
      {pendingCall && (
        <>
          <p>
            <b>{pendingCall.tool}</b>: {pendingCall.reason}
          </p>
          <Code label="Arguments of the call" text={pendingCall.arguments} />
        </>
      )}
      <Form
        onSubmit={(event: FormEvent<HTMLFormElement>) => {
          event.preventDefault();
          // Enter decides nothing about a call.
          if (!pendingCall && answer.trim() !== "") send();
        }}
      >
        <TextField name="answer" value={answer} onChange={(next) => change({ answer: next })} maxLength={20_000}>
          <Label>{pendingCall ? "Words for the agent, if you like" : "Your answer"}</Label>
          <TextArea />
        </TextField>
        {error && (
          <Notice
            tone="error"
            title={isChanged ? "The run changed since you opened it" : "Your answer was not sent"}
            action={isChanged && <Button onPress={() => void changed()}>Show it as it is</Button>}
          >
            {isChanged ? "Nothing of yours was sent." : writeSentenceOf(error)}
          </Notice>
        )}
        <div className="actions">
          {pendingCall ? (
            <>
              <Button onPress={() => send(false)} isPending={isPending}>
                Refuse the call
              </Button>
              <Button look="primary" onPress={() => send(true)} isPending={isPending}>
                Allow the call
              </Button>
            </>
          ) : (
            <Button look="primary" type="submit" isPending={isPending} isDisabled={answer.trim() === ""}>
              Send answer
            </Button>
          )}
        </div>
      </Form>
    </section>
  );
}
