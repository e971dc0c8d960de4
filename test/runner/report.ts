import { existsSync, readFileSync } from 'node:fs'

export type FileReport = { passed: number; skipped: number; failed: string[] }

/** The result of each file: how many of its tests passed or were skipped, and the names of those that failed. */
export type Report = Map<string, FileReport>

/** With failures in more files the cause is not a busy machine. */
const REPEATED = 10

const TESTCASE =
  /<testcase name="([^"]*)" classname="([^"]*)"[^>]* file="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads a report in JUnit's format. */
export function readReport(path: string): Report {
  const report: Report = new Map()
  const xml = existsSync(path) ? readFileSync(path, 'utf8') : ''
  for (const [, name = '', group = '', file = '', inner = ''] of xml.matchAll(TESTCASE)) {
    const entry = report.get(file) ?? { passed: 0, skipped: 0, failed: [] }
    report.set(file, entry)
    if (inner.includes('<skipped')) entry.skipped += 1
    else if (inner.includes('<failure'))
      entry.failed.push(plainText([file, group, name].filter((part) => part !== '').join(' > ')))
    else entry.passed += 1
  }
  return report
}

/** The files to run once more: a few with failures, and those that are in no report. */
export function filesToRepeat(report: Report, files: readonly string[]): string[] {
  const failed = files.filter((file) => report.get(file)?.failed.length)
  return [...(failed.length > REPEATED ? [] : failed), ...files.filter((file) => !report.has(file))]
}

const plainText = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name] ?? '')
