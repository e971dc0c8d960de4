/**
 * Statements as spans: the kind of statement and the table, never its text or parameters. The driver is wrapped only if
 * tracing is on.
 */
import { getTableName, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import type postgres from 'postgres'
import { getCurrentSpan, runInSpan, type Span, traceWork } from '../core/trace/span.ts'
import * as schema from './schema/index.ts'

/** A statement of the driver, as far as it is watched: `handle` sends it. */
type Statement = Promise<unknown> & {
  handle(): Promise<void>
  resolve(rows: unknown): void
  reject(error: unknown): void
}

const OPERATION = /^\s*(select|insert|update|delete|with|vacuum|set|lock|notify|listen)\b/i
const TABLE = /\b(?:from|into|update|join|table)\s+(?:only\s+)?"?([a-z_]+)"?/gi
/** Characters that are looked at: long statements are lists of parameters. */
const LOOKED_AT = 2_000

const tables = new Set(
  Object.values(schema).flatMap((one: unknown) => (is(one, PgTable) ? [getTableName(one)] : [])),
)

export function withSpans<Sql extends postgres.Sql | postgres.TransactionSql>(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, args) => {
      const [strings] = args
      const made: unknown = Reflect.apply(target as (...given: unknown[]) => unknown, self, args)
      return isTemplate(strings) ? watchResult(made, strings.join('?')) : made
    },
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name === 'unsafe')
        return (text: string, ...rest: unknown[]) =>
          watchResult(member.call(target, text, ...rest), text)
      if (name === 'begin' || name === 'savepoint')
        return (...args: unknown[]) => transaction(args, (given) => member.apply(target, given))
      return member
    },
  })
}

/** The last argument is the function with the transaction's work. */
function transaction(args: unknown[], begin: (args: unknown[]) => unknown): unknown {
  const work = args.at(-1) as (sql: postgres.TransactionSql) => unknown
  const inside = getCurrentSpan()
  const wrapWork = (span: Span | undefined) => (sql: postgres.TransactionSql) =>
    span ? runInSpan(span, () => work(withSpans(sql))) : work(sql)
  if (!inside) return begin([...args.slice(0, -1), wrapWork(undefined)])
  return traceWork('transaction', {}, (span) => begin([...args.slice(0, -1), wrapWork(span)]))
}

function watchResult(made: unknown, text: string): unknown {
  const parent = getCurrentSpan()
  if (!parent || !isStatement(made)) return made
  const { handle, resolve, reject } = made
  let span: Span | undefined
  made.handle = () => {
    span ??= parent.child(nameOf(text), { 'db.system.name': 'postgresql' }, 'client')
    return handle.call(made)
  }
  made.resolve = (rows) => {
    if (Array.isArray(rows)) span?.set({ 'db.response.returned_rows': rows.length })
    span?.end()
    resolve(rows)
  }
  made.reject = (error) => {
    span?.fail(error)
    reject(error)
  }
  return made
}

/** Returns a name such as `select accounts`: fixed words, whatever the statement contains. */
export function nameOf(text: string): string {
  const start = text.slice(0, LOOKED_AT)
  const operation = OPERATION.exec(start)?.[1]?.toLowerCase() ?? 'statement'
  const table = [...start.matchAll(TABLE)]
    .map(([, name = '']) => name)
    .find((name) => tables.has(name))
  return table ? `${operation} ${table}` : operation
}

function isTemplate(value: unknown): value is TemplateStringsArray {
  return Array.isArray(value) && 'raw' in value
}

function isStatement(value: unknown): value is Statement {
  return value instanceof Promise && 'handle' in value && 'resolve' in value && 'reject' in value
}
