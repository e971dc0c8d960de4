/** The files whose words are checked, and lines that are excepted. */

/** Globs. To check more, add a path. */
export const paths: readonly string[] = [
  'src/console/**',
  'test/console/**',
  'test/*.ts',
  'test/{access,audit,bench,binary,client,clients,contract,core,corpus,crash,database}/**',
  'test/{deploy,derivation,dev,faults,features,leak_guard,load,notices,operator,outbound}/**',
  'test/{packaging,proxy,renewal,resolver,runner,sdk,security,server,sigchain,support}/**',
  'test/upgrade/**',
  'docs/guides/console.md',
  'docs/guides/approvals.md',
  'docs/guides/connections.md',
  'docs/guides/notices.md',
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
export const exceptions: readonly Exception[] = [
  ...citedTitle('test/security/agent_never_reads.test.ts', 'what a token may use'),
  ...citedTitle('test/security/forged_rows.test.ts', 'that was made up is none'),
  ...citedTitle('test/security/known_names.test.ts', 'is none that somebody else founded'),
  ...citedTitle('test/security/superseded_state.test.ts', 'the rows of before are put back'),
  ...citedTitle('test/security/unverified_state.test.ts', 'whose administrator is none any more'),
  ...citedTitle('test/sigchain/rules.test.ts', 'who was removed', 'who may only read'),
  ...productMessage('test/contract/known_findings.ts', 'is none at which this server'),
  ...productMessage('test/features/links/first_link.test.ts', 'takes one of its own'),
  ...productMessage('test/features/passkeys/passkeys.test.ts', 'is none at which this server'),
  ...productMessage('test/features/workspaces/signed_rekey.test.ts', 'there is none to follow'),
  ...productMessage('test/proxy/command.test.ts', 'sudo takes these variables away'),
]

function citedTitle(path: string, ...lines: string[]): Exception[] {
  return lines.map((line) => ({ path, line, reason: 'the threat model cites this title' }))
}

function productMessage(path: string, line: string): Exception[] {
  return [{ path, line, reason: 'a message that the product prints' }]
}
