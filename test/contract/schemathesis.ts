/** A run of Schemathesis over the document of a listener, and its findings about the answers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { watched } from '../support/watched.ts'

/** The same finding of several operations and inputs counts once. */
export type Finding = { code: string; operation: string; status: number; said: string }

export type Run = { findings: Finding[]; cases: number; output: string }

type Options = {
  python: string
  origin: string
  /** Cases of fuzzing for each operation. */
  examples: number
  directory: string
  /** Values that replace examples of the document. */
  standFor: Record<string, string>
  /** The content of `schemathesis.toml`. */
  config: Record<string, unknown>
}

type Scenario = {
  label: string
  checks?: Record<string, { failure_info?: { failure: { code: string; operation: string } } }[]>
  interactions?: Record<string, { response: { status_code: number; content?: Content } | null }>
}
type Content = { $base64: string }
type Event = { ScenarioFinished?: { recorder: Scenario } }

export async function runSchemathesis(options: Options): Promise<Run> {
  const { python, origin, examples, directory, standFor, config } = options
  const settings = join(directory, 'schemathesis.toml')
  const report = join(directory, 'report.ndjson')
  await Bun.write(settings, stringify({ hooks: join(import.meta.dir, 'hooks.py'), ...config }))
  const child = watched(
    Bun.spawn(
      [
        ...[python, '-m', 'schemathesis.cli', '--config-file', settings, '--no-color'],
        ...['run', `${origin}/api/docs/own.json`, '--url', origin],
        ...['--seed', '1'],
        ...['--max-examples', String(examples), '--continue-on-failure', '--no-shrink'],
        ...['--generation-deterministic'],
        ...['--report', 'ndjson', '--report-ndjson-path', report],
      ],
      {
        cwd: directory,
        env: { ...process.env, STAND_FOR: JSON.stringify(standFor) },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    ),
  )
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  // Exit code 1 reports findings.
  if ((await child.exited) > 1) throw new Error(output + errors)
  const scenarios = readFileSync(report, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .map((line) => (JSON.parse(line) as Event).ScenarioFinished?.recorder)
    .filter((recorder) => recorder !== undefined)
  const findings = new Map(
    scenarios.flatMap(findingsOf).map((finding) => [JSON.stringify(finding), finding]),
  )
  const cases = scenarios.reduce(
    (sum, { interactions = {} }) => sum + Object.keys(interactions).length,
    0,
  )
  return { findings: [...findings.values()], cases, output }
}

function findingsOf({ checks = {}, interactions = {} }: Scenario): Finding[] {
  return Object.entries(checks).flatMap(([id, verdicts]) =>
    verdicts.flatMap(({ failure_info }) => {
      if (!failure_info) return []
      const { code, operation } = failure_info.failure
      const { status_code = 0, content } = interactions[id]?.response ?? {}
      return [{ code, operation, status: status_code, said: said(content) }]
    }),
  )
}

function said(content: Content | undefined): string {
  const text = Buffer.from(content?.$base64 ?? '', 'base64').toString()
  const [, json, xml] = /"message":"((?:[^"\\]|\\.)*)"|<Message>(.*?)<\/Message>/.exec(text) ?? []
  return json ?? xml ?? text.slice(0, 200)
}
