/** The files whose words are checked, and lines that are excepted. */

/** Globs. */
export const paths: readonly string[] = [
  'src/**',
  'test/**',
  'docs/**',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
]

/** Globs of the files whose comments, test titles and headings need a subject. */
export const subjectPaths: readonly string[] = [...paths]

/** Globs of files that nobody here wrote as prose, with the reason. */
export const excluded: readonly { glob: string; reason: string }[] = [
  { glob: '**/*.{png,gz,zst,tar,ico,woff2,db,wasm}', reason: 'binary' },
  { glob: '**/node_modules/**', reason: 'installed packages' },
  { glob: 'test/vectors/**', reason: 'published test vectors' },
  { glob: 'test/docs/protocol_rules/*.json', reason: 'quotes the former protocol page' },
  { glob: 'test/words/*.ts', reason: 'the phrases themselves' },
]

export type Exception = {
  path: string
  /** A part of the line. Of a phrase that goes over two lines, the first line counts. */
  line: string
  reason: string
}

/** Quotations, and vocabulary of a standard. An exception that excepts nothing fails the check. */
export const exceptions: readonly Exception[] = [
  {
    path: 'docs/guides/monitoring.md',
    line: '--kill-whom=main',
    reason: 'an option of systemctl',
  },
  {
    path: 'test/docs/machine.ts',
    line: '--kill-whom=main',
    reason: 'an option of systemctl',
  },
]
