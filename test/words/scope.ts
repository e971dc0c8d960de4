/** The files whose words are checked, and lines that are excepted. */

/** Globs. To check more, add a path. */
export const paths: readonly string[] = [
  'src/console/**',
  'src/access/**',
  'src/approvals/**',
  'src/audit/**',
  'src/core/*.ts',
  'src/core/async/**',
  'src/core/crypto/**',
  'src/core/names/**',
  'src/core/net/**',
  'src/core/policy/**',
  'src/core/signing/**',
  'src/core/trace/**',
  'src/core/validation/**',
  'src/database/**',
  'src/derivation/**',
  'src/dev/**/*.ts',
  'src/identity/**',
  'src/leak_guard/**',
  'src/main.ts',
  'src/notices/**',
  'src/operator/**',
  'src/outbound/**',
  'src/proxy/**',
  'src/renewal/**',
  'src/resolver/**',
  'src/server/**',
  'src/sigchain/**',
  'test/console/**',
  'docs/guides/console.md',
  'docs/guides/agents.md',
  'docs/guides/approvals.md',
  'docs/guides/connections.md',
  'docs/guides/notices.md',
  'docs/guides/proxy.md',
  'docs/guides/sdks.md',
  'docs/internals/**',
  'docs/reference/compatibility.md',
  'test/clients/table/**',
  'CONTRIBUTING.md',
  'SECURITY.md',
]

/** Globs of the files whose comments, test titles and headings need a subject. */
export const subjectPaths: readonly string[] = [...paths]

/** Globs of files that nobody here wrote as prose, with the reason. */
export const excluded: readonly { glob: string; reason: string }[] = [
  { glob: '**/*.{png,gz,ico,woff2,db,wasm}', reason: 'binary' },
  { glob: 'test/vectors/**', reason: 'published test vectors' },
  { glob: 'test/words/*.ts', reason: 'the phrases themselves' },
]

export type Exception = {
  path: string
  /** A part of the line. Of a phrase that goes over two lines, the first line counts. */
  line: string
  reason: string
}

/** Quotations, and vocabulary of a standard. An exception that excepts nothing fails the check. */
export const exceptions: readonly Exception[] = []
