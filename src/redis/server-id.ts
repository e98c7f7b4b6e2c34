/**
 * Lua: which Redis this is; '' where it does not say. Another run id may be a replica that was promoted, or a server that
 * was started again, and may lack what was written last. In a Cluster it is the node that has the script's keys.
 */
export const SERVER_FUNCTION = `
local function server()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end`;
