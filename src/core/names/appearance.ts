/** Returns a name as people see it: equal for compatible characters, invisible characters, and surrounding space. */
export function appearance(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim()
}
