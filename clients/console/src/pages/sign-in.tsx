import { type FormEvent, useState } from "react";
import gate from "../gate.svg";
import { choosePassword, session, signIn } from "../service/session";
import { SERVICE_NAME } from "../service/settings";

/** A field of plain HTML: the page of a stranger loads no library of controls. */
function Field({
  name,
  label,
  type,
  autoComplete,
  problem,
  ...rest
}: {
  name: string;
  label: string;
  type: "email" | "password";
  autoComplete: string;
  problem?: string | undefined;
  autoFocus?: boolean;
}) {
  return (
    <div className="react-aria-TextField">
      <label className="react-aria-Label" htmlFor={name}>
        {label}
      </label>
      <input
        id={name}
        name={name}
        type={type}
        required
        className="react-aria-Input"
        autoComplete={autoComplete}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : "problem"}
        {...rest}
      />
    </div>
  );
}

/** A form whose answer may be a sentence that says why not. */
function useSubmit(send: (fields: FormData) => Promise<void>) {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    try {
      await send(new FormData(event.currentTarget));
    } catch (error) {
      setProblem(error instanceof TypeError ? "The service does not answer: try again." : (error as Error).message);
    } finally {
      setBusy(false);
    }
  }
  return { problem, busy, onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event) };
}

const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? "");

/** E-mail address and password, or another provider. */
export function SignInForm({ email = "" }: { email?: string }) {
  const { ways } = session.use();
  const { problem, busy, onSubmit } = useSubmit((fields) =>
    signIn(textOf(fields, "email"), textOf(fields, "password")),
  );
  return (
    <form onSubmit={onSubmit}>
      <div className="react-aria-TextField">
        <label className="react-aria-Label" htmlFor="email">
          E-mail address
        </label>
        <input
          id="email"
          name="email"
          type="email"
          required
          defaultValue={email}
          className="react-aria-Input"
          autoComplete="username"
        />
      </div>
      <Field name="password" label="Password" type="password" autoComplete="current-password" problem={problem} />
      {problem && (
        <p id="problem" role="alert" className="react-aria-FieldError">
          {problem}
        </p>
      )}
      <button className="btn btn-primary" type="submit" disabled={busy}>
        {busy ? "Checking…" : "Sign in"}
      </button>
      {ways.map(({ label, href }) => (
        <a key={href} className="btn btn-plain" href={href}>
          {label}
        </a>
      ))}
    </form>
  );
}

/** The page for people who are not signed in. */
export function SignIn() {
  return (
    <main className="signin">
      <div className="signin-card">
        <img src={gate} alt="" width={44} height={44} />
        <h1>Sign in to {SERVICE_NAME}</h1>
        <p>One gate between your AI clients and your security platforms.</p>
        <SignInForm />
      </div>
    </main>
  );
}

/** An administrator set the password: its owner chooses another one. */
export function NewPassword() {
  const { problem, busy, onSubmit } = useSubmit((fields) =>
    choosePassword(textOf(fields, "current"), textOf(fields, "next")),
  );
  return (
    <main className="signin">
      <div className="signin-card">
        <img src={gate} alt="" width={44} height={44} />
        <h1>Choose a new password</h1>
        <p>Somebody else set yours. The new one has at least 12 characters.</p>
        <form onSubmit={onSubmit}>
          <Field name="current" label="Password until now" type="password" autoComplete="current-password" />
          <Field name="next" label="New password" type="password" autoComplete="new-password" problem={problem} />
          {problem && (
            <p id="problem" role="alert" className="react-aria-FieldError">
              {problem}
            </p>
          )}
          <button className="btn btn-primary" type="submit" disabled={busy}>
            {busy ? "Checking…" : "Change password"}
          </button>
        </form>
      </div>
    </main>
  );
}

/** The service does not answer, or files of the console are missing: in plain HTML, as the library of controls may be missing too. */
export function Away({ title, children }: { title: string; children: string }) {
  return (
    <main className="signin">
      <div className="signin-card">
        <img src={gate} alt="" width={44} height={44} />
        <h1>{title}</h1>
        <p role="status">{children}</p>
        <button className="btn btn-primary" type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </main>
  );
}
