/** What a server prints when it serves: where it is, and how to try and stop it. */

/** Origins of the listeners; `null` where ROLE leaves one out. */
export type Origins = { controlPlane: string | null; resolver: string | null; admin: string[] }

/** `consoleHash` is what a release publishes of the console. */
type Ready = Origins & {
  location: string
  consoleHash: string
  workers?: number
  notices?: readonly string[]
}

export function readyText(ready: Ready): string {
  const { controlPlane, resolver, admin, location, consoleHash, workers = 1, notices = [] } = ready
  return [
    'Cloakroom is ready.',
    ...(controlPlane
      ? [
          `  control plane  ${controlPlane}`,
          `  console        ${controlPlane}/console/ (SHA-256 ${consoleHash})`,
        ]
      : []),
    ...(resolver ? [`  resolver       ${resolver}`] : []),
    ...admin.map((origin) => `  metrics        ${origin}/metrics`),
    `  database       ${location}`,
    ...(workers > 1 ? [`  workers        ${workers}`] : []),
    ...notices.map((notice) => `  notice         ${notice}`),
    ...(controlPlane ? ['', `Try:  curl ${controlPlane}/api/status/health/`] : []),
    'Stop: Ctrl-C',
    '',
  ].join('\n')
}
