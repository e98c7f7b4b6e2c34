/** Lua: lists to be written at the end, one command a key. */
export const COLLECT = `
local function add(lists, key, ...)
  local list = lists[key] or {}
  lists[key] = list
  for i = 1, select('#', ...) do list[#list + 1] = (select(i, ...)) end
end
local function flush(command, lists)
  for key, list in pairs(lists) do redis.call(command, key, unpack(list)) end
end`;
