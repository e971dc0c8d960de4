/** The table of docs/reference/compatibility.md: what each client could do. A run of some clients leaves the rows of the others. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verdict } from './cell.ts'
import { type Action, actions, type Cell, type Client, ways } from './client.ts'

const PATH = join(import.meta.dir, '../../docs/reference/compatibility.md')
const START = '<!-- Written by `bun run clients`. -->\n'
const END = '<!-- Until here. -->\n'
const MARKS = { ok: '✓', lacking: '–', wrong: '✗' }

export type Row = {
  client: string
  /** A mark for each action, by way. */
  forward: string
  proxy: string
  /** The reason of each cell that is not `✓`, and the options that the client needs. */
  reasons: string
}

export type Verdicts = ReadonlyMap<Cell, Verdict>

export function rowOf(client: Client, verdicts: Verdicts): Row {
  const marksOf = (way: (typeof ways)[number]) =>
    actions.map((action) => MARKS[kindOf(verdicts.get(`${way} ${action}`))]).join(' ')
  const cells = ways.flatMap((way) => actions.map((action): Cell => `${way} ${action}`))
  const reasons = Map.groupBy(
    cells.filter((cell) => verdicts.get(cell) !== 'ok'),
    (cell) => reasonOf(client, cell, verdicts.get(cell)),
  )
  const said = [...reasons].map(([reason, some]) => `${nameOf(some)}: ${reason}`)
  return {
    client: [client.name, ...client.packages.slice(-1).flatMap(versionOf)].join(' '),
    forward: marksOf('forward'),
    proxy: marksOf('proxy'),
    reasons: [...(client.note ? [client.note] : []), ...said].join('; '),
  }
}

function kindOf(verdict: Verdict | undefined): keyof typeof MARKS {
  if (verdict === 'ok') return verdict
  return verdict && 'lacking' in verdict ? 'lacking' : 'wrong'
}

export const UNEXPLAINED = '**not explained**'

function reasonOf({ fails }: Client, cell: Cell, verdict: Verdict | undefined): string {
  if (verdict && typeof verdict === 'object' && 'lacking' in verdict) return verdict.lacking
  return fails?.[cell] ?? UNEXPLAINED
}

/** The name of cells; a reason that is the same both ways is listed once. */
function nameOf(cells: readonly Cell[]): string {
  const of = (way: string) =>
    cells.filter((cell) => cell.startsWith(way)).map((cell) => cell.split(' ')[1] as Action)
  const [forward, proxy] = [of('forward'), of('proxy')]
  const listed = (some: Action[]) => (some.length === actions.length ? 'all' : some.join(', '))
  if (forward.join() === proxy.join()) return listed(forward)
  const parts = [
    forward.length > 0 && `forward ${listed(forward)}`,
    proxy.length > 0 && `proxy ${listed(proxy)}`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Behind the last `@` or `==`, or the third part of Maven's names. */
function versionOf(text: string): string[] {
  const version = /(?:.@v?|==|^[^:]+:[^:]+:)([^@:=]+)$/.exec(text)?.[1]
  return version === undefined ? [] : [version]
}

/** The rows that are there, by the name that they begin with. */
export function readRows(clients: readonly Client[]): Map<Client, Row> {
  const lines = generatedPart(readFileSync(PATH, 'utf8')).split('\n')
  const rows = lines.flatMap((line) => {
    const [, client = '', forward = '', proxy = '', reasons = ''] = line
      .split('|')
      .map((cell) => cell.trim())
    return /[✓✗–]/.test(forward) ? [{ client, forward, proxy, reasons }] : []
  })
  return new Map(
    clients.flatMap((client): [Client, Row][] => {
      const row = rows.find((one) => one.client === rowOf(client, new Map()).client)
      return row ? [[client, row]] : []
    }),
  )
}

export function writeRows(clients: readonly Client[], rows: ReadonlyMap<Client, Row>): string {
  const languages = [...Map.groupBy(clients, ({ language }) => language)].flatMap(
    ([language, some]) => [
      `\n| ${language} | forward | proxy | |`,
      '| --- | --- | --- | --- |',
      ...some.map((client) => lineOf(rows.get(client) ?? rowOf(client, new Map()))),
    ],
  )
  const summary = summaryOf([...rows.values()])
  const document = readFileSync(PATH, 'utf8')
  const [before = '', rest = ''] = document.split(START)
  const [, after = ''] = rest.split(END)
  writeFileSync(PATH, `${before}${START}\n${summary}\n${languages.join('\n')}\n\n${END}${after}`)
  return summary
}

function summaryOf(rows: readonly Row[]): string {
  const marks = rows.map(({ forward, proxy }) => forward + proxy).join('')
  const count = (mark: string) => marks.split(mark).length - 1
  const [passed, failed, lacking] = [count('✓'), count('✗'), count('–')]
  const share = ((100 * passed) / (passed + failed)).toFixed(1)
  return `${rows.length} clients, ${passed + failed} cells: ${passed} pass (${share} %), ${failed} do not. ${lacking} more are of calls that a client does not have.`
}

function lineOf({ client, forward, proxy, reasons }: Row): string {
  return `| ${client} | ${forward} | ${proxy} | ${reasons} |`
}

export function generatedPart(document: string): string {
  return document.split(START)[1]?.split(END)[0] ?? ''
}
