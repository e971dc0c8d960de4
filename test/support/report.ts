import { existsSync, readFileSync } from 'node:fs'

/** What became of each file: how many of its tests passed, and the names of those that failed. */
export type Report = Map<string, { passed: number; failed: string[] }>

/** With more of them the machine is not to blame. */
const REPEATED = 3

const TESTCASE =
  /<testcase name="([^"]*)" classname="([^"]*)"[^>]* file="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads a report in JUnit's format. */
export function readReport(path: string): Report {
  const report: Report = new Map()
  const xml = existsSync(path) ? readFileSync(path, 'utf8') : ''
  for (const [, name = '', group = '', file = '', inner = ''] of xml.matchAll(TESTCASE)) {
    const { passed, failed } = report.get(file) ?? { passed: 0, failed: [] }
    const test = plainText([file, group, name].filter((part) => part !== '').join(' > '))
    if (inner.includes('<failure')) report.set(file, { passed, failed: [...failed, test] })
    else report.set(file, { passed: passed + (inner.includes('<skipped') ? 0 : 1), failed })
  }
  return report
}

/** Of files that ran with a failure, those to run once more: with a failure, or in no report. */
export function doubtful(report: Report, files: readonly string[]): string[] {
  const failed = files.filter((file) => report.get(file)?.failed.length)
  return [...(failed.length > REPEATED ? [] : failed), ...files.filter((file) => !report.has(file))]
}

const plainText = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name] ?? '')
