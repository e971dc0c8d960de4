import { existsSync, readFileSync } from 'node:fs'

/** What became of each file: how many of its tests passed, and the names of those that failed. */
export type Report = Map<string, { passed: number; failed: string[] }>

const TESTCASE =
  /<testcase name="([^"]*)" classname="([^"]*)"[^>]* file="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads a report in JUnit's format. A file of `expected` that is not in it did not load, or its runner died. */
export function readReport(path: string, expected: readonly string[]): Report {
  const report: Report = new Map()
  const xml = existsSync(path) ? readFileSync(path, 'utf8') : ''
  for (const [, name = '', group = '', file = '', inner = ''] of xml.matchAll(TESTCASE)) {
    const { passed, failed } = report.get(file) ?? { passed: 0, failed: [] }
    const test = plainText([file, group, name].filter((part) => part !== '').join(' > '))
    if (inner.includes('<failure')) report.set(file, { passed, failed: [...failed, test] })
    else report.set(file, { passed: passed + (inner.includes('<skipped') ? 0 : 1), failed })
  }
  for (const file of expected)
    if (!report.has(file)) report.set(file, { passed: 0, failed: [`${file} > (did not run)`] })
  return report
}

const plainText = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name] ?? '')
