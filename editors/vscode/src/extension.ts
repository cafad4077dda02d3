// Starts `safecheck serve lsp` and shows its verdict on the plan that is looked at. Everything else is the server's.

import * as vscode from "vscode";
import {
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";

const LANGUAGES = ["pddl", "plan", "safe", "virtualhome"];

/** What the server says of a plan in a line. */
interface Verdict {
  uri: string;
  headline: string | null;
  steps?: number;
  findings?: number;
  rules?: number;
  safe?: string | null;
}

let client: LanguageClient | undefined;
const verdicts = new Map<string, Verdict>();

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("safecheck");
}

/** The settings that the server reads; which program is started is none of them. */
function said(): Record<string, unknown> {
  const names = ["domain", "problem", "specifications", "world", "scene", "goal", "judge", "minSeverity", "lint"];
  return Object.fromEntries(names.map((name) => [name, settings().get(name)]));
}

function makeClient(shown: () => void): LanguageClient {
  const run: Executable = {
    command: settings().get<string>("path") || "safecheck",
    args: settings().get<string[]>("arguments") ?? ["serve", "lsp", "--stdio"],
  };
  const server: ServerOptions = { run, debug: run };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: said(),
    synchronize: { configurationSection: "safecheck" },
    markdown: { isTrusted: false, supportHtml: false },
  };
  const made = new LanguageClient("safecheck", "safecheck", server, options);
  made.onNotification("$/safecheck/verdict", (verdict: Verdict) => {
    verdicts.set(verdict.uri, verdict);
    shown();
  });
  return made;
}

async function start(shown: () => void): Promise<void> {
  client = makeClient(shown);
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `safecheck could not be started: ${error instanceof Error ? error.message : String(error)}`,
      "Open settings",
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "safecheck.path");
    }
  }
}

/** The verdict on the plan in the active editor. */
function show(item: vscode.StatusBarItem): void {
  const document = vscode.window.activeTextEditor?.document;
  const key = document && client?.code2ProtocolConverter.asUri(document.uri);
  const verdict = key === undefined ? undefined : verdicts.get(key);
  if (verdict === undefined) {
    item.hide();
    return;
  }
  const good = verdict.headline === "SAFE" || verdict.headline === "VALID";
  item.text = `$(${good ? "pass" : verdict.headline === "UNKNOWN" ? "question" : "error"}) ${verdict.headline ?? "not judged"}`;
  item.tooltip = [
    `${verdict.findings ?? 0} findings, ${verdict.steps ?? 0} steps, ${verdict.rules ?? 0} rules at work`,
    verdict.safe == null ? "nothing is said about safety: there is no rule" : `safe: ${verdict.safe}`,
  ].join("\n");
  item.show();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const item = vscode.window.createStatusBarItem("safecheck.verdict", vscode.StatusBarAlignment.Left, 50);
  item.name = "safecheck";
  item.command = "workbench.actions.view.problems";
  const shown = (): void => show(item);
  context.subscriptions.push(
    item,
    vscode.window.onDidChangeActiveTextEditor(shown),
    vscode.workspace.onDidCloseTextDocument((document) => {
      const key = client?.code2ProtocolConverter.asUri(document.uri);
      if (key !== undefined) {
        verdicts.delete(key);
      }
    }),
    vscode.commands.registerCommand("safecheck.restart", async () => {
      await client?.stop();
      await start(shown);
    }),
    vscode.commands.registerCommand("safecheck.fix", () =>
      vscode.commands.executeCommand("editor.action.codeAction", { kind: "source.fixAll.safecheck", apply: "first" }),
    ),
  );
  await start(shown);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
