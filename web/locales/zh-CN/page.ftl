# 首页与页面框架。
page-title = vramscope
page-title-of = { $name } —— vramscope
brand-hint = 首页

start-headline = 逐块看清 PyTorch 的 CUDA 缓存分配器如何使用显存
start-promise = 拖入一份显存快照，即可回放每一次分配、切分、合并与 empty_cache()。一切都在本浏览器内完成，不会上传任何内容。
start-drop = 把快照拖到这里
start-kinds = .pickle、.vtrace、memory_viz 的 .html，也支持 .gz 或 .zst——单个文件、多个文件或整个文件夹
start-choose-files = 选择文件
start-choose-folder = 选择文件夹
start-gallery = 内置记录（真实 H200 显卡）
start-served = 本机上的记录
start-howto = 如何录制快照？
start-wanted = 此链接指向“{ $name }”的一个视图。拖入或选择该文件即可回到该视图。

tab-open-more = 打开另一份记录
tab-close = 关闭 { $name }
device-label = 设备
device-option = cuda:{ $device } · { $events } 个事件
language-switch = English
language-switch-hint = 切换到英文
theme-hint-auto = 主题：跟随系统。点击切换为浅色。
theme-hint-light = 主题：浅色。点击切换为深色。
theme-hint-dark = 主题：深色。点击切换为跟随系统。
help-open = 快捷键与帮助
panel-pictures = 视图
view-curves = 曲线
view-map = 显存图
view-details = 详情

opening-title = 正在打开 { $name }
opening-read = 已读取 { $done }
opening-of = { $done } / { $total }
opening-index = 正在建立索引……
failed-title = 无法打开 { $name }
failed-back = 打开其他文件
failed-fetch = 无法加载 { $url }：{ $message }
failed-file = 无法从磁盘读取文件：{ $message }
failed-worker = 引擎已停止：{ $message }。关闭其他记录可以释放内存。
empty-device = 这份记录里既没有事件也没有段。请在要观察的代码之前调用 torch.cuda.memory._record_memory_history()。

help-title = 快捷键
help-close = 关闭
key-step = 前进或后退一个事件
key-step-more = 前进或后退十个事件
key-ends = 第一个与最后一个事件
key-play = 播放与暂停
key-speed = 减速与加速
key-jump = 所选类型的上一个与下一个
key-zoom = 放大与缩小曲线
key-pan = 移动曲线
key-fit = 显示全部
key-escape = 取消选择、关闭此窗口
key-help = 本帮助
help-pointer = 曲线：点击或拖动选择时刻，滚轮缩放，Shift 加滚轮平移。显存图：点击选中块，滚轮滚动，Ctrl 加滚轮放大。

warnings-count = { $count } 条警告
warnings-title = 读取时发现的问题，或对不上的地方
warnings-row = { $text }（{ $count } 次，首次出现于{ $place }）
place-recording = 整份记录
place-byte = 第 { $offset } 字节
place-event = 设备 { $device } 的事件 { $event }
place-address = 设备 { $device } 的地址 { $address }
